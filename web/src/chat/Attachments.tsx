// SPDX-License-Identifier: Apache-2.0
// Files of a message and files waiting in the composer. Images are shown; other files are a line with their
// name.
import { AttachmentPrimitive, ComposerPrimitive, useAuiState } from "@assistant-ui/react";
import { useCallback } from "react";
import { attachmentUrl } from "../api/ramet";
import { shareToken } from "../api/client";
import type { Part } from "../api/types";
import type { FileRef } from "../state/session";
import { IconAlert, IconButton, IconClose, IconFile, Spinner } from "../ui";

const isPicture = (type: string | undefined) => type?.startsWith("image/") ?? false;

const sourceOf = (id: string) => {
  const share = shareToken();
  return attachmentUrl(id) + (share ? "?share_only=true&share=" + encodeURIComponent(share) : "");
};

function Chip({ name, href, picture }: { name: string; href?: string; picture?: boolean }) {
  const face = picture && href ? (
    <img className="chat-picture" src={href} alt={name} loading="lazy" />
  ) : (
    <>
      <IconFile />
      <span className="truncate">{name}</span>
    </>
  );
  return href ? (
    <a className="chat-file" href={href} download={picture ? undefined : name} target="_blank" rel="noreferrer noopener" title={name}>
      {face}
    </a>
  ) : (
    <span className="chat-file" title={name}>
      {face}
    </span>
  );
}

const isLocal = (url: string) => url.startsWith("/") && !url.startsWith("//");

export function MessageFiles({ parts }: { parts: Part[] }) {
  if (parts.length === 0) return null;
  return (
    <div className="chat-files">
      {parts.map((part, i) => {
        const own = part.attachment_id ? sourceOf(part.attachment_id) : undefined;
        const href = own ?? part.url;
        const picture = isPicture(part.media_type) && (own !== undefined || isLocal(part.url ?? ""));
        return <Chip key={i} name={part.name || "file"} href={href} picture={picture} />;
      })}
    </div>
  );
}

export function PendingFiles({ files }: { files: FileRef[] }) {
  if (files.length === 0) return null;
  return (
    <div className="chat-files">
      {files.map((file) => (
        <Chip key={file.id} name={file.name} href={sourceOf(file.id)} picture={isPicture(file.media_type)} />
      ))}
    </div>
  );
}

function ComposerFile() {
  const attachment = useAuiState((s) => s.attachment);
  const { file } = attachment;
  const preview = useCallback(
    (image: HTMLImageElement) => {
      const url = URL.createObjectURL(file!);
      image.src = url;
      return () => URL.revokeObjectURL(url);
    },
    [file],
  );
  const { type } = attachment.status;
  return (
    <AttachmentPrimitive.Root className="chat-file chat-file-waiting" title={attachment.name}>
      {file && isPicture(file.type) ? <img className="chat-thumb" ref={preview} alt="" /> : <IconFile />}
      <span className="truncate">{attachment.name}</span>
      {type === "running" && <Spinner label="Uploading" />}
      {type === "incomplete" && <IconAlert />}
      <AttachmentPrimitive.Remove asChild>
        <IconButton small plain label={`Remove ${attachment.name}`} icon={<IconClose />} />
      </AttachmentPrimitive.Remove>
    </AttachmentPrimitive.Root>
  );
}

const components = { Attachment: ComposerFile };

export function ComposerFiles() {
  return (
    <div className="chat-files chat-composer-files">
      <ComposerPrimitive.Attachments components={components} />
    </div>
  );
}
