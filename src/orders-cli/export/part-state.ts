import { type Filters, optionName } from './filters.ts'

/** The options of an export; only the same ones can resume it. */
export interface ExportRequest {
  url: string
  filters: Filters
  format: string
  rows: string
  /** Absent for the names of the API, as in a state of an earlier version. */
  headers?: string
}

/** The progress of an unfinished export, as JSON in the folder of the part file. */
export interface PartState {
  version: 1
  asked: ExportRequest
  /** The cursor of the next page; `null` before the first and after the last. */
  cursor: string | null
  /** Whether all pages are written. */
  isListed: boolean
  /** The length of the part file up to the last complete page. */
  bytes: number
  orders: number
  /**
   * Whether the key masks personal data. Absent where the API does not show it, and in a state of
   * an earlier version.
   */
  isMasked?: boolean
}

/** The state before the first page. */
export function initialState(asked: ExportRequest): PartState {
  return { version: 1, asked, cursor: null, isListed: false, bytes: 0, orders: 0 }
}

/** `null` for a file that this program did not write. */
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

/** The options that differ from those of the unfinished export, each as text. */
export function differences(before: ExportRequest, now: ExportRequest): string[] {
  const [old, current] = [flat(before), flat(now)]
  const names = [...new Set([...Object.keys(old), ...Object.keys(current)])]
  const differing = names.filter((name) => old[name] !== current[name])
  return differing.map((name) => `${name} era ${shown(old[name])}, agora é ${shown(current[name])}`)
}

const shown = (value: string | undefined) => value ?? 'nenhum'

function flat({ filters, ...rest }: ExportRequest): Record<string, string> {
  const options = Object.entries({ ...rest, ...filters })
  return Object.fromEntries(
    options.map(([name, value]) => [`--${optionName(name)}`, String(value)]),
  )
}
