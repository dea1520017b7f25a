// SPDX-License-Identifier: Apache-2.0
// Renders the Markdown of a message. It is untrusted: tags are shown as text, images of other hosts become
// links (loading them would reveal the reader), and links open in a new tab. What draws code, formulas and
// diagrams is loaded when the first one is shown.
import { memo, type ComponentProps, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import { Code, Diagram, Formula } from "./Code";
import { gfm } from "./gfm";
import { markFormulas } from "./source";
import "./markdown.css";

const textOf = (node: ReactNode): string => {
  if (typeof node === "string" || typeof node === "number") return String(node);
  if (Array.isArray(node)) return node.map(textOf).join("");
  return "";
};

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
    const text = textOf(code?.props?.children).replace(/\n$/, "");
    if (language === "math") return <Formula text={text} display />;
    if (language === "mermaid") return <Diagram text={text} />;
    return <Code language={language} text={text} />;
  },
  code: ({ className, children }) =>
    className === "language-math" ? <Formula text={textOf(children)} /> : <code>{children}</code>,
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
        {markFormulas(text)}
      </ReactMarkdown>
    </div>
  );
});
