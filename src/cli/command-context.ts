import type { Readable } from 'node:stream'
import type { Screen } from '../lib/status-line.ts'
import type { StopSignals } from './signals.ts'
import type { Environment } from './with-services.ts'

/** An output of the program. */
export interface Output extends Screen {
  /** The file descriptor behind it, to which the log writes directly. */
  fd?: number
}

/** What the program uses of the process that runs it. */
export interface ProgramIo extends StopSignals {
  env: Environment
  stdin: Readable
  stdout: Output
  stderr: Output
}

/** What a command uses: the same, and a way to exit with 1 after it printed its whole result. */
export interface CommandContext extends ProgramIo {
  setFailed(): void
}
