// SPDX-License-Identifier: Apache-2.0
// Components that all views use. Components of a single room stay there.
import "./ui.css";

export * from "./Ago";
export * from "./Button";
export * from "./cx";
export * from "./Dialog";
export * from "./Field";
export * from "./icons";
export * from "./Kbd";
export * from "./Menu";
export * from "./Note";
export * from "./Popover";
export * from "./Spinner";
export * from "./Tag";
export * from "./Toast";
export * from "./Tooltip";
