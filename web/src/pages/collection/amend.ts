import { api, ok, type Schemas } from "../../api/client.ts";

/** Changes by hand how chunks are found. What is absent stays as it is. */
export const amend = (collection: string, change: Partial<Schemas["AmendRequestInput"]>): Promise<Schemas["Amended"]> =>
  ok(
    api.POST("/api/v1/collections/{collection}/chunks/amend", {
      params: { path: { collection } },
      body: change as Schemas["AmendRequestInput"],
    }),
  );
