import type { StreamConnection } from './stream-connection.ts'

/** What an operator should correct, so that Redis keeps every accepted change; `null`: nothing. */
export async function persistenceWarning({
  probe,
  stream,
}: Pick<StreamConnection, 'probe' | 'stream'>): Promise<string | null> {
  // A managed Redis may refuse either command, and its operator can change nothing there.
  const info = await probe((redis) => redis.persistenceInfo(stream)).catch(() => '')
  if (/^aof_enabled:0\r?$/m.test(info)) return NO_FILE
  if (!/^aof_enabled:1\r?$/m.test(info)) return null
  // No script may run CONFIG. In a cluster any node responds, and all have the same policy.
  const reply = await probe((redis) => redis.config('GET', 'appendfsync')).catch(() => [])
  const [, policy] = reply as string[]
  return policy === undefined || policy === 'always' ? null : lateSync(policy)
}

const NO_FILE =
  'the Redis of the change stream has no append-only file: accepted changes may be lost at its restart. Set "appendonly yes" there, or STREAM_REDIS_URL to a Redis that has it'

const lateSync = (policy: string) =>
  `the Redis of the change stream has "appendfsync ${policy}": a crash of its machine loses the changes that were accepted since the last sync. Set "appendfsync always" there`
