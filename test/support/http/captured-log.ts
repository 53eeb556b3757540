import { type Logger, pino } from 'pino'

/** A log in memory: its logger and its lines, the oldest first. */
export interface CapturedLog {
  logger: Logger
  lines: string[]
}

/** Creates an empty log that keeps every line. */
export function captureLog(): CapturedLog {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  return { logger: pino({ level: 'trace' }, { write }), lines }
}
