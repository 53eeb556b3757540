/** Calls as a user whose access the file system checks, which it does not for root. */
export function asUnprivilegedUser<T>(call: () => T): T {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    return call()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}
