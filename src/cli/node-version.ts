/** The first version with `node:sqlite` enabled by default and the HTTP client in use. */
const MIN_MAJOR = 24

/** The error for a Node version that is too old; `undefined` for a supported one. */
export function unsupportedNodeMessage(version: string): string | undefined {
  const [major = 0] = version.split('.').map(Number)
  if (major >= MIN_MAJOR) return undefined
  return `The service needs Node ${MIN_MAJOR} or later, and this is ${version}. Install a newer Node, or use the image. (The client and the command "orders" run on Node 20.)`
}
