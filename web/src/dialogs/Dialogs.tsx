// SPDX-License-Identifier: Apache-2.0
// The open dialog; App mounts this once.

import { lazy, Suspense } from "react";
import "./dialogs.css";
import { useDialog, type OpenDialog } from "./dialogs";

// Each comes when it is first opened.
const DeleteDialog = lazy(() =>
  import("./DeleteDialog").then((m) => ({ default: m.DeleteDialog })),
);
const ForkSessionDialog = lazy(() =>
  import("./ForkSessionDialog").then((m) => ({ default: m.ForkSessionDialog })),
);
const RenameDialog = lazy(() =>
  import("./RenameDialog").then((m) => ({ default: m.RenameDialog })),
);
const SessionTagsManager = lazy(() =>
  import("./SessionTagsManager").then((m) => ({ default: m.SessionTagsManager })),
);
const ShareDialog = lazy(() => import("./ShareDialog").then((m) => ({ default: m.ShareDialog })));

function Opened({ dialog }: { dialog: OpenDialog }) {
  switch (dialog.kind) {
    case "fork":
      return <ForkSessionDialog place={dialog} />;
    case "tags":
      return <SessionTagsManager sessionId={dialog.sessionId} />;
    case "share":
      return <ShareDialog sessionId={dialog.sessionId} />;
    case "rename":
      return <RenameDialog sessionId={dialog.sessionId} />;
    case "delete":
      return <DeleteDialog sessionId={dialog.sessionId} />;
  }
}

export function Dialogs() {
  const dialog = useDialog((s) => s.dialog);
  return <Suspense>{dialog && <Opened dialog={dialog} />}</Suspense>;
}
