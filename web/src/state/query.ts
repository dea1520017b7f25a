// SPDX-License-Identifier: Apache-2.0
// The query client for everything that views load and change themselves. Sessions and chats are not here:
// live events keep them up to date (sessions.ts, session/).
import { QueryClient } from "@tanstack/react-query";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false, // api/client.ts decides what is tried again
      networkMode: "always", // the server may be on this machine
      refetchOnWindowFocus: false,
      gcTime: 0,
    },
    mutations: { networkMode: "always" },
  },
});
