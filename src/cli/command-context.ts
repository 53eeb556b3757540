import type { Readable } from 'node:stream'
import type { Environment } from '../config/environment.ts'
import type { Screen } from '../lib/status-line.ts'
import type { StopSignals } from './signals.ts'

/** An output of the program. */
export interface Output extends Screen {
  /** `onWritten` receives the error of a failed write. */
  write(text: string, onWritten?: (error?: Error | null) => void): unknown
  /** The file descriptor of the output; the log writes to it directly. */
  fd?: number
}

/** The parts of the process that the program uses. */
export interface ProgramIo extends StopSignals {
  env: Environment
  stdin: Readable
  stdout: Output
  stderr: Output
}

/** The context of a command. */
export interface CommandContext extends ProgramIo {
  /** Exits with 1 after the command printed its whole result. */
  setFailed(): void
}
