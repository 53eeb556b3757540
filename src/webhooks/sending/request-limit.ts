/**
 * Requests in flight of the whole process. A thousand endpoints that stop responding hold one each
 * until their first timeout, and the others have the rest.
 */
export const MAX_REQUESTS = 1_280
