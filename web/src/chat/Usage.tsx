// SPDX-License-Identifier: Apache-2.0
// Tokens and cost of an answer, and of the branch (own: caused by this chat; path: everything on the path,
// which a fork shares with its parent).
import type { Entry, UsageSum } from "../api/types";
import { Popover } from "../ui";
import { useRoom } from "./runtime";

const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

export const moneyText = (cost: number, currency: string): string => {
  const digits = cost !== 0 && cost < 0.01 ? 6 : cost < 1 ? 4 : 2;
  try {
    return new Intl.NumberFormat(undefined, {
      style: "currency",
      currency,
      maximumFractionDigits: digits,
    }).format(cost);
  } catch {
    return `${cost} ${currency}`;
  }
};

const costText = (sum: UsageSum): string =>
  sum.costs
    .filter((one) => one.cost > 0)
    .map((one) => moneyText(one.cost, one.currency))
    .join(" + ");

/** Under an answer: what it cost. */
export function AnswerUsage({ entry }: { entry: Entry }) {
  const { usage } = entry;
  if (!usage) return null;
  const tokens = `${whole.format(usage.input)} tokens in, ${whole.format(usage.output)} out`;
  const cached = usage.cached > 0 ? `, ${whole.format(usage.cached)} cached` : "";
  const cost = usage.cost > 0 ? `, ${moneyText(usage.cost, usage.currency)}` : "";
  const said = tokens + cached + cost;
  const brief =
    `${short.format(usage.input)} → ${short.format(usage.output)}` +
    (usage.cost > 0 ? ` · ${moneyText(usage.cost, usage.currency)}` : "");
  return (
    <span className="chat-usage" title={said}>
      <span aria-hidden="true">{brief}</span>
      <span className="sr-only">{said}</span>
    </span>
  );
}

function Row({ name, about, sum }: { name: string; about: string; sum: UsageSum }) {
  return (
    <tr>
      <th scope="row" title={about}>
        {name}
      </th>
      <td>{whole.format(sum.input)}</td>
      <td>{whole.format(sum.output)}</td>
      <td>{whole.format(sum.cached)}</td>
      <td>{costText(sum) || "–"}</td>
    </tr>
  );
}

/** In the head of the chat. */
export function BranchUsage() {
  const usage = useRoom().store((s) => s.usage);
  if (!usage || usage.tree.entries === 0) return null;
  const { path } = usage;
  const cost = costText(path);
  return (
    <Popover
      label="Usage"
      align="end"
      trigger={
        <button type="button" className="ui-button ui-button-ghost ui-button-small chat-branch-usage">
          <span className="sr-only">Usage: </span>
          {short.format(path.input + path.output)} tokens{cost && ` · ${cost}`}
        </button>
      }
    >
      <table className="chat-usage-table">
        <thead>
          <tr>
            <td />
            <th scope="col">In</th>
            <th scope="col">Out</th>
            <th scope="col">Cached</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          <Row name="Own" about="What was said in this chat, abandoned versions too" sum={usage.own} />
          <Row name="Path" about="What is on the way to here, shared beginnings too" sum={usage.path} />
          <Row name="All forks" about="Every message of all forks, each once" sum={usage.tree} />
        </tbody>
      </table>
      <p className="chat-usage-note">
        Own is what this chat caused; Path is what one reads here, with what it shares with its parent.
      </p>
    </Popover>
  );
}
