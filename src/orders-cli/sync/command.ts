import type { SyncOptions, SyncResult } from '../../client/client.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { DAY_MS, parseDuration, SECOND_MS } from '../../lib/durations.ts'
import { hasFourDigitYear } from '../../lib/instant.ts'
import { replaceControls } from '../../lib/text/control-characters.ts'
import { parseQueryInstant } from '../../orders/filters/query-instant.ts'
import { parseArguments, rejectExtraArgs } from '../arguments.ts'
import { type Context, connect, resolveBaseUrl, writeText } from '../context.ts'
import { resolveDates } from '../dates/date-options.ts'
import { openDestination } from '../destinations/destination.ts'
import type { LocalStore } from '../destinations/local-store.ts'
import { CommandLineError, explain, ResumableError, USAGE } from '../errors.ts'
import { commandLine } from '../terminal/format-text.ts'
import { createOrdersProgress } from '../terminal/progress.ts'
import { summary, watch } from './watch.ts'

/** The options of `orders sync`. */
export const syncOptions = {
  url: 'text',
  since: 'text',
  watch: 'flag',
  interval: 'text',
  'accept-new-key': 'flag',
  'allow-mass-removal': 'flag',
  all: 'flag',
} as const

/** `orders sync`: brings a local store up to date, once or at intervals. */
export async function runSync(args: readonly string[], context: Context): Promise<void> {
  const { text: typed, flags, words } = parseArguments(args, syncOptions)
  const [destination, ...extra] = words
  // An unset variable in a script is empty; as a path it would be the current folder.
  if (destination === undefined || destination.trim() === '') {
    throw new CommandLineError('Falta o destino: uma pasta, ou sqlite:ARQUIVO.')
  }
  rejectExtraArgs(extra)
  const text = resolveDates(typed, (line) => context.status.printLine(line))
  const since = parseSince(text.since)
  const intervalMs = intervalOf(text.interval, flags.has('watch'))
  const url = resolveBaseUrl(text.url, context.env)

  const store = await openDestination(destination, context)
  let isPageSaved = false
  try {
    await warnIgnoredSince(store, since, context)
    const progress = createOrdersProgress(context.status, monotonicClock)
    const client = await connect(context, url, progress.wait)
    const settings = {
      store,
      acceptNewKey: flags.has('accept-new-key'),
      signal: context.signal,
      onPage: ({ received }) => {
        isPageSaved = true
        progress.update(received)
      },
      ...(since !== undefined && { since }),
    } satisfies SyncOptions

    const sync = async (isFirst: boolean): Promise<SyncResult & { changes: number }> => {
      const before = store.changes()
      try {
        const all = isFirst && flags.has('all') && { fullSyncIntervalMs: 0 }
        // The flag covers the orders that are gone now, not those of later syncs of a watch.
        const allowMassRemoval = isFirst && flags.has('allow-mass-removal')
        const result = await client.orders.sync({ ...settings, ...all, allowMassRemoval })
        return { ...result, changes: store.changes() - before }
      } finally {
        context.status.clear()
      }
    }

    // `updated_at` is a text of the server, and a date may have any comment in brackets.
    const print = (line: string) => writeText(context.stdout, `${replaceControls(line)}\n`)
    const { signal, env } = context
    if (flags.has('watch')) await watch(sync, intervalMs, { signal, progress, env }, print)
    else await print(summary(await sync(true)))
  } catch (error) {
    if (explain(error).exitCode === USAGE) throw error
    // The hint is only true once something is saved.
    const hasState = await store.read().then(Boolean, () => false)
    if (!hasState) throw error
    // A confirmation counts once: the next other key, or the next mass removal, may be a mistake.
    // The first page saves the new key.
    const used = ['--allow-mass-removal', ...(isPageSaved ? ['--accept-new-key'] : [])]
    const repeated = args.filter((arg) => !used.includes(arg))
    const resumeCommand = commandLine([...context.program, 'sync', ...repeated])
    throw new ResumableError(
      error,
      `O que foi lido está guardado em ${destination}. Para continuar:\n  ${resumeCommand}`,
    )
  } finally {
    await store.close()
  }
}

function intervalOf(text: string | undefined, isWatching: boolean): number {
  if (text !== undefined && !isWatching) {
    throw new CommandLineError('--interval só vale com --watch.')
  }
  const ms = parseInterval(text ?? '60s')
  if (ms !== null) return ms
  throw new CommandLineError(`--interval: "${text}" não é um tempo. Use 30s, 5m, 1h, até 7d.`)
}

/**
 * The first instant that the API includes, which rounds a finer fraction up. The copy keeps it in
 * UTC, where an offset may have moved it out of the years of the API.
 */
function parseSince(since: string | undefined): Date | undefined {
  if (since === undefined) return undefined
  const parsed = parseQueryInstant(since)
  if (typeof parsed === 'object' && hasFourDigitYear(parsed.ceilMs)) return new Date(parsed.ceilMs)
  throw new CommandLineError(
    `--since: "${since}" não é um instante com data, hora e fuso, dos anos 0000 a 9999 em UTC. Exemplos: 01/03/2026, 2026-03-01T00:00:00-03:00.`,
  )
}

/** `--since` applies to the first sync of a store only. */
async function warnIgnoredSince(store: LocalStore, since: Date | undefined, { status }: Context) {
  if (since === undefined) return
  const state = await store.read()
  if (state === null) return
  if (state.since !== null && Date.parse(state.since) === since.getTime()) return
  const kept = state.since === null ? 'tem todos os pedidos' : `começa em ${state.since}`
  status.printLine(`--since vale só na primeira vez: esta cópia ${kept} e não muda.`)
}

/** Within the limit of a Node timer, which is 24 days. */
const MAX_INTERVAL_MS = 7 * DAY_MS

/** A duration such as 30s, 5m or 1h in milliseconds, from 1s to 7d; `null` for anything else. */
export function parseInterval(text: string): number | null {
  const ms = parseDuration(text) ?? 0
  return ms >= SECOND_MS && ms <= MAX_INTERVAL_MS ? ms : null
}
