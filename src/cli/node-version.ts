/** The first with all that the service stands on: `node:sqlite` unasked, and the HTTP client. */
const MIN_MAJOR = 24

/** What to do where the service cannot run on this Node; `undefined` where it can. */
export function unsupportedNodeMessage(version: string): string | undefined {
  const [major = 0] = version.split('.').map(Number)
  if (major >= MIN_MAJOR) return undefined
  return `The service runs on Node ${MIN_MAJOR} or later, and this is ${version}. Install a newer one, or use the image. (The client and the command "orders" run on Node 20.)`
}
