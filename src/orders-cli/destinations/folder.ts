import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Order, SyncState } from '../../client/client.ts'
import { syncFolder } from '../../lib/files/sync-folder.ts'
import { writeDurably } from '../atomic-file.ts'
import { CommandError } from '../errors.ts'
import type { Waiting } from '../lock/foreign-lock.ts'
import { claimFolder, orderFile } from './folder-layout.ts'
import type { LocalStore } from './local-store.ts'
import { openSeenLog, type SeenLog } from './seen-log.ts'

/** Files written concurrently, so that their syncs to disk overlap. */
const CONCURRENCY = 16
/** The folders of `orderFile`; a sync never changes other folders. */
const SHARD = /^[0-9a-f]{2}$/
/** Seen ids are compared with the folders in 16 parts, so that only one part is in memory. */
const PARTS = [...'0123456789abcdef']

/**
 * A store in a folder: one JSON file per order in `orders/<shard>/`, and the state in `.sync/`.
 * `folder`: absolute.
 * @throws CommandError if the folder has other files, or another process holds the lock
 */
export async function openFolderStore(folder: string, waiting: Waiting = {}): Promise<LocalStore> {
  const { own, lock } = await claimFolder(folder, waiting)
  const ordersFolder = join(folder, 'orders')
  const stateFile = join(own, 'state.json')
  const seen = await openSeenLog(own)
  let changes = 0

  /** Writes the order unless its file is identical; returns whether it wrote. */
  async function writeOrder(order: Order): Promise<boolean> {
    const { shard, name } = orderFile(order.id)
    const path = join(ordersFolder, shard, name)
    const json = `${JSON.stringify(order, null, 2)}\n`
    if ((await readFile(path, 'utf8').catch(() => null)) === json) return false
    // Again, because the machine may have been suspended since, and the next holder of the lock may
    // have saved a later version.
    await lock.assertHeld()
    const temporary = join(own, 'tmp', name)
    await writeDurably(temporary, json)
    await rename(temporary, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      await mkdir(join(ordersFolder, shard), { recursive: true, mode: 0o700 })
      await rename(temporary, path)
    })
    return true
  }

  return {
    changes: () => changes,

    async read() {
      const text = await readFile(stateFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null
        throw error
      })
      return text === null ? null : parseState(text, stateFile)
    },

    async save(orders, state) {
      await lock.assertHeld()
      const { number, kind } = state.pass
      const shards = new Set<string>()
      await forEachConcurrent(orders, async (order) => {
        if (!(await writeOrder(order))) return
        shards.add(orderFile(order.id).shard)
        changes++
      }).catch(async (error) => {
        await lock.assertHeld() // The next holder of the lock removes the temporary files.
        throw error
      })
      await forEachConcurrent([...shards], (shard) => syncFolder(join(ordersFolder, shard)))
      if (kind === 'all' && state.pass.reached !== 'done') {
        await seen.add(
          number,
          orders.map(({ id }) => id),
        )
      }
      const next = `${stateFile}.new`
      await writeDurably(next, `${JSON.stringify(state, null, 2)}\n`)
      // The next holder of the lock has removed the log of earlier pages. With their state, the run
      // would delete their orders.
      await lock.assertHeld()
      await rename(next, stateFile)
      await seen.keepOnly(state.pass.reached === 'done' ? -1 : number)
    },

    async deleteUnseen(run) {
      await lock.assertHeld()
      let deleted = 0
      for await (const { shard, gone } of shardsOf(ordersFolder, seen, run)) {
        // Again, because the next holder of the lock may have saved orders in this shard.
        await lock.assertHeld()
        await forEachConcurrent(gone, (name) =>
          rm(join(ordersFolder, shard, name), { force: true }),
        )
        if (gone.length > 0) await syncFolder(join(ordersFolder, shard))
        deleted += gone.length
      }
      return deleted
    },

    async countUnseen(run) {
      const counts = { unseen: 0, total: 0 }
      for await (const { all, gone } of shardsOf(ordersFolder, seen, run)) {
        counts.unseen += gone.length
        counts.total += all
      }
      return counts
    },

    close: () => lock.release(),
  }
}

interface Shard {
  shard: string
  /** The number of orders in it. */
  all: number
  /** The files of orders that the run has not seen. */
  gone: readonly string[]
}

/** Every shard, compared with the ids that a run has seen; none if the seen log is gone. */
async function* shardsOf(ordersFolder: string, seen: SeenLog, run: number): AsyncGenerator<Shard> {
  const entries = await readdir(ordersFolder, { withFileTypes: true })
  const shards = entries.filter((entry) => entry.isDirectory() && SHARD.test(entry.name))
  for (const part of PARTS) {
    const ids = seen.read(run)
    if (ids === null) return
    const known = new Set<string>()
    for await (const id of ids) {
      const { shard, name } = orderFile(id)
      if (shard.startsWith(part)) known.add(join(shard, name))
    }
    for (const { name: shard } of shards.filter(({ name }) => name.startsWith(part))) {
      const names = await readdir(join(ordersFolder, shard))
      const orders = names.filter((name) => name.endsWith('.json'))
      const gone = orders.filter((name) => !known.has(join(shard, name)))
      yield { shard, all: orders.length, gone }
    }
  }
}

function parseState(text: string, file: string): SyncState {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandError(
      `${file} está danificado, e sem ele o comando não sabe até onde a cópia está em dia. Sincronize para uma pasta nova.`,
    )
  }
}

async function forEachConcurrent<T>(
  values: readonly T[],
  work: (value: T) => Promise<void>,
): Promise<void> {
  const queue = [...values]
  const worker = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) await work(next)
  }
  // Every worker ends before the first error is thrown, so that none writes afterwards.
  const results = await Promise.allSettled(Array.from({ length: CONCURRENCY }, worker))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
