// SPDX-License-Identifier: Apache-2.0
// Blocks of code with their colours, formulas, and diagrams. Each shows its source until what draws it is loaded.
import { useEffect, useState } from "react";
import { cx, IconButton, IconCheck, IconChevronDown, IconChevronUp, IconCode, IconCopy, IconPicture, IconWrap } from "../ui";
import { useDark } from "../state/settings";
import { copyText } from "./copy";

const COLOURED_MAX = 50_000;
/** Longer ones are folded to about half of that. */
const LINES_MAX = 40;

/** What a promise brings for the present input; null until then, and when it fails. */
function useDrawn(draw: () => Promise<string | null>, on: readonly unknown[]): string | null {
  const [drawn, setDrawn] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    const show = (made: string | null) => {
      if (current && made !== null) setDrawn(made);
    };
    draw().then(show, () => show(null));
    return () => {
      current = false;
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, on);
  return drawn;
}

function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <IconButton
      small
      label={copied ? "Copied" : "Copy the code"}
      icon={copied ? <IconCheck /> : <IconCopy />}
      onClick={() => void copy()}
    />
  );
}

export function Code({ language, text, more }: { language: string; text: string; more?: React.ReactNode }) {
  const coloured = language !== "" && text.length <= COLOURED_MAX;
  const html = useDrawn(
    async () => (coloured ? (await import("./highlight")).highlight(text, language) : null),
    [language, text],
  );
  const [wrap, setWrap] = useState(false);
  const [open, setOpen] = useState(false);
  const lines = text.split("\n").length;
  const long = lines > LINES_MAX;
  return (
    <div className={cx("md-code", wrap && "md-code-wrap", long && !open && "md-code-folded")}>
      <div className="md-code-bar">
        <span>{language}</span>
        {more}
        <IconButton
          small
          label="Wrap long lines"
          icon={<IconWrap />}
          aria-pressed={wrap}
          onClick={() => setWrap(!wrap)}
        />
        <CopyButton text={text} />
      </div>
      {/* The highlighter writes nothing but spans around escaped text. */}
      <pre tabIndex={0}>
        {html === null || !coloured ? <code>{text}</code> : <code dangerouslySetInnerHTML={{ __html: html }} />}
      </pre>
      {long && (
        <button type="button" className="md-code-more" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? <IconChevronUp size={14} /> : <IconChevronDown size={14} />}
          {open ? "Show less" : `Show all ${lines} lines`}
        </button>
      )}
    </div>
  );
}

export function Formula({ text, display = false }: { text: string; display?: boolean }) {
  const html = useDrawn(async () => (await import("./math")).formula(text, display), [text, display]);
  const Box = display ? "div" : "span";
  if (html === null) return <code>{text}</code>;
  // Its maker escapes all that it does not understand.
  return <Box className={display ? "md-formula" : undefined} tabIndex={display ? 0 : undefined} dangerouslySetInnerHTML={{ __html: html }} />;
}

export function Diagram({ text }: { text: string }) {
  const dark = useDark();
  const svg = useDrawn(async () => (await import("./diagram")).diagram(text, dark), [text, dark]);
  const [source, setSource] = useState(false);
  if (svg === null || source)
    return (
      <Code
        language="mermaid"
        text={text}
        more={
          svg !== null && (
            <IconButton small label="Show the picture" icon={<IconPicture />} onClick={() => setSource(false)} />
          )
        }
      />
    );
  return (
    <figure className="md-code md-diagram">
      <div className="md-code-bar">
        <span>mermaid</span>
        <IconButton small label="Show the source" icon={<IconCode />} onClick={() => setSource(true)} />
        <CopyButton text={text} />
      </div>
      {/* Strict mode: no scripts, no handlers, labels are escaped. */}
      <div className="md-diagram-box" role="img" aria-label="Diagram" dangerouslySetInnerHTML={{ __html: svg }} />
    </figure>
  );
}
