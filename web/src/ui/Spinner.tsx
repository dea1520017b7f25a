// SPDX-License-Identifier: Apache-2.0
/** Something is under way. With a label it is said to screen readers too. */
export function Spinner({ label }: { label?: string }) {
  if (!label) return <span className="ui-spinner" aria-hidden="true" />;
  return (
    <span role="status">
      <span className="ui-spinner" aria-hidden="true" />
      <span className="sr-only">{label}</span>
    </span>
  );
}
