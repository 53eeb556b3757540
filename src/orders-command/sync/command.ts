import type { SyncOptions, SyncResult } from '../../client/client.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { parseInstant } from '../../lib/instant.ts'
import { parseArguments, refuseWords } from '../arguments.ts'
import { addressOf, connect } from '../connect.ts'
import type { Context } from '../context.ts'
import { openCopy } from '../copies/destination.ts'
import type { LocalCopy } from '../copies/local-copy.ts'
import { explain, USAGE } from '../explain.ts'
import { Unfinished, UsageFault } from '../faults.ts'
import { writeOut } from '../output.ts'
import { createOrdersProgress } from '../terminal/progress.ts'
import { commandLine } from '../terminal/words.ts'
import { parseInterval } from './interval.ts'
import { summary } from './summary.ts'
import { watch } from './watch.ts'

const options = {
  url: 'text',
  since: 'text',
  watch: 'flag',
  interval: 'text',
  'accept-new-key': 'flag',
  'allow-mass-removal': 'flag',
  all: 'flag',
} as const

/** `orders sync`: brings a copy up to date, once or again and again. */
export async function runSync(args: readonly string[], context: Context): Promise<void> {
  const { text, flags, words } = parseArguments('sync', args, options)
  const [destination, ...more] = words
  // An empty one is a variable of a script that nobody set; as a path it would be the folder it runs in.
  if (destination === undefined || destination.trim() === '') {
    throw new UsageFault('Falta o destino: uma pasta, ou sqlite:ARQUIVO.', 'sync')
  }
  refuseWords('sync', more)
  refuseBadInstant(text.since)
  const intervalMs = intervalOf(text.interval, flags.has('watch'))
  const url = addressOf('sync', text.url, context.env)

  const copy = await openCopy(destination)
  try {
    await tellOfSince(copy, text.since, context)
    const progress = createOrdersProgress(context.status, monotonicClock)
    const client = await connect(context, url, progress.wait)
    const settings = {
      store: copy,
      acceptNewKey: flags.has('accept-new-key'),
      signal: context.signal,
      onPage: ({ received }) => progress.update(received),
      ...(text.since !== undefined && { since: text.since }),
    } satisfies SyncOptions

    const sync = async (isFirst: boolean): Promise<SyncResult & { changes: number }> => {
      const before = copy.changes()
      try {
        const all = isFirst && flags.has('all') && { walkAllEveryMs: 0 }
        // Said of the orders that are gone now, and not of those that will be, once it watches.
        const allowMassRemoval = isFirst && flags.has('allow-mass-removal')
        const result = await client.orders.sync({ ...settings, ...all, allowMassRemoval })
        return { ...result, changes: copy.changes() - before }
      } finally {
        context.status.clear()
      }
    }

    const tell = (line: string) => writeOut(`${line}\n`)
    if (flags.has('watch')) await watch(sync, intervalMs, context, tell)
    else await tell(summary(await sync(true)))
  } catch (error) {
    if (explain(error).exitCode === USAGE) throw error
    // Only what a copy has already is worth telling that it stays.
    const isBegun = await copy.read().then(Boolean, () => false)
    if (!isBegun) throw error
    // Each is said once: the next key that is another may be a wrong one, the next orders that are gone lost.
    const same = args.filter((arg) => !['--accept-new-key', '--allow-mass-removal'].includes(arg))
    const again = commandLine(['orders', 'sync', ...same])
    throw new Unfinished(
      error,
      `O que foi lido está guardado em ${destination}. Para continuar:\n  ${again}`,
    )
  } finally {
    await copy.close()
  }
}

function intervalOf(text: string | undefined, isWatching: boolean): number {
  if (text !== undefined && !isWatching) {
    throw new UsageFault('--interval só vale com --watch.', 'sync')
  }
  const ms = parseInterval(text ?? '60s')
  if (ms !== null) return ms
  throw new UsageFault(`--interval: "${text}" não é um tempo. Use 30s, 5m, 1h, até 7d.`, 'sync')
}

function refuseBadInstant(since: string | undefined): void {
  if (since === undefined || typeof parseInstant(since) === 'object') return
  throw new UsageFault(
    `--since: "${since}" não é um instante com data, hora e fuso. Exemplo: 2026-03-01T00:00:00-03:00.`,
    'sync',
  )
}

/** Since when a copy is stays as it was at its first sync. */
async function tellOfSince(copy: LocalCopy, since: string | undefined, { status }: Context) {
  if (since === undefined) return
  const state = await copy.read()
  if (state === null) return
  if (state.since !== null && Date.parse(state.since) === Date.parse(since)) return
  const kept = state.since === null ? 'tem todos os pedidos' : `é desde ${state.since}`
  status.printLine(`--since vale só na primeira vez: esta cópia ${kept}, e continua assim.`)
}
