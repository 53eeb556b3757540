import type { Filters } from './filters.ts'

/** What an export was asked for; only the same can be gone on with. */
export interface Asked {
  url: string
  filters: Filters
  format: string
  rows: string
}

/** How far an unfinished export is: what is beside it, as JSON. */
export interface PartState {
  version: 1
  asked: Asked
  /** Leads to the next page; `null` before the first, and after the last. */
  cursor: string | null
  /** Whether all pages are in. */
  isListed: boolean
  /** Of the part, all that counts. */
  bytes: number
  orders: number
}

export function beginState(asked: Asked): PartState {
  return { version: 1, asked, cursor: null, isListed: false, bytes: 0, orders: 0 }
}

/** `null` for what this program did not write. */
export function parseState(text: string): PartState | null {
  try {
    const state = JSON.parse(text) as Partial<PartState>
    const isOurs =
      state.version === 1 &&
      typeof state.asked?.url === 'string' &&
      typeof state.asked.filters === 'object' &&
      typeof state.isListed === 'boolean' &&
      (state.cursor === null || typeof state.cursor === 'string') &&
      Number.isSafeInteger(state.bytes) &&
      Number.isSafeInteger(state.orders)
    return isOurs ? (state as PartState) : null
  } catch {
    return null
  }
}

/** In which ways what is asked now is something else, each in words. */
export function differences(before: Asked, now: Asked): string[] {
  const [old, current] = [flat(before), flat(now)]
  const names = [...new Set([...Object.keys(old), ...Object.keys(current)])]
  const differing = names.filter((name) => old[name] !== current[name])
  return differing.map((name) => `${name} era ${told(old[name])}, agora é ${told(current[name])}`)
}

const told = (value: string | undefined) => value ?? 'nenhum'

function flat({ filters, ...rest }: Asked): Record<string, string> {
  const options = Object.entries({ ...rest, ...filters })
  return Object.fromEntries(
    options.map(([name, value]) => [`--${name.replace('_', '-')}`, String(value)]),
  )
}
