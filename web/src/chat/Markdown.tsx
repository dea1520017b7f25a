// SPDX-License-Identifier: Apache-2.0
// Renders the Markdown of an answer. It is untrusted: HTML is not rendered, images of other hosts become
// links (loading them would reveal the reader), and links open in a new tab. The highlighter is loaded
// when the first code block needs it.
import { memo, useEffect, useState, type ComponentProps, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import { IconButton, IconCheck, IconCopy } from "../ui";
import { copyText } from "./copy";
import { gfm } from "./gfm";

const textOf = (node: ReactNode): string => {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map(textOf).join("");
  return "";
};

const COLOURED_MAX = 50_000;

function Code({ language, text }: { language: string; text: string }) {
  const [html, setHtml] = useState<string | null>(null);
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!language || text.length > COLOURED_MAX) return;
    let current = true;
    void import("./highlight").then(({ highlight }) => {
      if (current) setHtml(highlight(text, language));
    });
    return () => {
      current = false;
    };
  }, [language, text]);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <div className="md-code">
      <div className="md-code-bar">
        <span>{language}</span>
        <IconButton
          small
          label={copied ? "Copied" : "Copy the code"}
          icon={copied ? <IconCheck /> : <IconCopy />}
          onClick={() => void copy()}
        />
      </div>
      {/* The highlighter writes nothing but spans around escaped text. */}
      <pre tabIndex={0}>
        {html === null ? <code>{text}</code> : <code dangerouslySetInnerHTML={{ __html: html }} />}
      </pre>
    </div>
  );
}

const local = (src: string | undefined): src is string =>
  src !== undefined && (src.startsWith("data:image/") || (src.startsWith("/") && !src.startsWith("//")));

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  img: ({ src, alt }: ComponentProps<"img">) =>
    local(typeof src === "string" ? src : undefined) ? (
      <img src={src} alt={alt ?? ""} loading="lazy" />
    ) : (
      <a href={typeof src === "string" ? src : undefined} target="_blank" rel="noreferrer noopener">
        {alt || "picture"}
      </a>
    ),
  pre: ({ children }) => {
    const code = (Array.isArray(children) ? children[0] : children) as
      | { props?: { className?: string; children?: ReactNode } }
      | undefined;
    const language = /language-([\w+#-]+)/.exec(code?.props?.className ?? "")?.[1] ?? "";
    return <Code language={language} text={textOf(code?.props?.children).replace(/\n$/, "")} />;
  },
  table: ({ children }) => (
    <div className="md-table">
      <table>{children}</table>
    </div>
  ),
};

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className="md">
      <ReactMarkdown remarkPlugins={[gfm]} rehypePlugins={[rehypeSanitize]} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
});
