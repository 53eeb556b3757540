import type { StatusLine } from '../lib/status-line.ts'

/** What a sub-command is given of the world. */
export interface Context {
  env: NodeJS.ProcessEnv
  /** Aborts when the person or the system wants it to end. */
  signal: AbortSignal
  /** On stderr. */
  status: StatusLine
}
