// SPDX-License-Identifier: Apache-2.0
export { Room, roomOf } from "./room";
export { mayWrite, type FileRef, type Pending, type SessionState } from "./state";
