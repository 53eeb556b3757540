import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Order, SyncState } from '../../client/client.ts'
import { replaceFile, syncFolder, writeDurably } from '../atomic-file.ts'
import { Failure } from '../faults.ts'
import { claimFolder } from './folder-claim.ts'
import type { LocalCopy } from './local-copy.ts'
import { orderFile } from './order-file.ts'
import { openSeenLog, type SeenLog } from './seen-log.ts'

/** Files that are written at once: they wait for the disk together. */
const AT_ONCE = 16
/** Folders that we made, of the first two digits of a hash; what else somebody keeps beside them is not ours. */
const SHARD = /^[0-9a-f]{2}$/
/** The ids of a walk are held against the folders in so many parts, of which one is in memory. */
const PARTS = [...'0123456789abcdef']

/**
 * A copy as a folder: one JSON file an order in `orders/<two digits>/`, and what the command needs in `.sync/`.
 * @throws Failure where something else is there, or somebody is at work on it
 */
export async function openFolderCopy(path: string): Promise<LocalCopy> {
  const folder = resolve(path)
  const { own, lock } = await claimFolder(folder)
  const ordersFolder = join(folder, 'orders')
  const stateFile = join(own, 'state.json')
  const seen = await openSeenLog(own)
  let changes = 0

  /** Whether the order is new or another; the same one is not written again. */
  async function keep(order: Order): Promise<boolean> {
    const { shard, name } = orderFile(order.id)
    const path = join(ordersFolder, shard, name)
    const json = `${JSON.stringify(order, null, 2)}\n`
    if ((await readFile(path, 'utf8').catch(() => null)) === json) return false
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
      const { number, kind } = state.pass
      const latest = [...new Map(orders.map((order) => [order.id, order])).values()]
      const shards = new Set<string>()
      await eachOf(latest, async (order) => {
        if (!(await keep(order))) return
        shards.add(orderFile(order.id).shard)
        changes++
      })
      await eachOf([...shards], (shard) => syncFolder(join(ordersFolder, shard)))
      if (kind === 'all' && state.pass.reached !== 'done') {
        await seen.add(
          number,
          latest.map(({ id }) => id),
        )
      }
      await replaceFile(stateFile, `${JSON.stringify(state, null, 2)}\n`)
      await seen.keepOnly(state.pass.reached === 'done' ? -1 : number)
    },

    async dropUnseen(pass) {
      let dropped = 0
      for await (const { shard, gone } of shardsOf(ordersFolder, seen, pass)) {
        await eachOf(gone, (name) => rm(join(ordersFolder, shard, name), { force: true }))
        if (gone.length > 0) await syncFolder(join(ordersFolder, shard))
        dropped += gone.length
      }
      return dropped
    },

    async countUnseen(pass) {
      const counts = { unseen: 0, total: 0 }
      for await (const { all, gone } of shardsOf(ordersFolder, seen, pass)) {
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
  /** How many orders are in it. */
  all: number
  /** Files of those that the walk has not seen. */
  gone: readonly string[]
}

/** Every folder of orders, held against what a walk has seen; none where the list of that was removed. */
async function* shardsOf(ordersFolder: string, seen: SeenLog, pass: number): AsyncGenerator<Shard> {
  const entries = await readdir(ordersFolder, { withFileTypes: true })
  const shards = entries.filter((entry) => entry.isDirectory() && SHARD.test(entry.name))
  for (const part of PARTS) {
    const ids = seen.read(pass)
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
    throw new Failure(
      `${file} está danificado, e sem ele não se sabe até onde a cópia está em dia. Sincronize para uma pasta nova.`,
    )
  }
}

async function eachOf<T>(values: readonly T[], work: (value: T) => Promise<void>): Promise<void> {
  const left = [...values]
  const worker = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await work(next)
  }
  // All of them end before a failure is told, so that none writes any more.
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
