export { createServiceClient, type ServiceClient, type ServiceOptions } from "./client.js";
export { ConnectionError, ServiceError, type ErrorCode } from "./errors.js";
export { ForkTooDeepError } from "./follow.js";
export { operations } from "./operations.js";
export type { components, paths } from "./schema.js";
export type { AllPages, Answer, CallOptions, Change, FollowableId, Followers, FollowOptions, Item, Methods, OperationId, PagedId, Params, Ref } from "./types.js";
