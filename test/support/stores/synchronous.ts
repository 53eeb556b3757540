import { DatabaseSync } from 'node:sqlite'
import { vi } from 'vitest'

/**
 * `PRAGMA synchronous` of every connection that `work` opens and leaves open, by the name of its
 * file.
 */
export async function synchronousOf(
  work: () => Promise<unknown>,
): Promise<Record<string, number[]>> {
  const opened = new Set<DatabaseSync>()
  const { exec } = DatabaseSync.prototype
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    opened.add(this)
    exec.call(this, sql)
  })
  await work().finally(() => spy.mockRestore())
  const pragmas = [...opened].map((db): [string, number] => [
    db.location()?.split('/').at(-1) ?? 'in memory',
    Number(db.prepare('PRAGMA synchronous').get()?.['synchronous']),
  ])
  return Object.fromEntries(
    [...Map.groupBy(pragmas, ([name]) => name)].map(([name, all]) => [
      name,
      all.map(([, value]) => value),
    ]),
  )
}

/** The value of `PRAGMA synchronous` with which a commit is on the disk when it returns. */
export const FULL = 2
