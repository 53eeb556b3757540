import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Value } from '@sinclair/typebox/value'
import { HistoryEntry } from './entry.ts'

/** Runs, the oldest first. */
export interface History {
  entries: readonly HistoryEntry[]
  /** Lines that are none, each with its number and what is wrong. */
  broken: readonly string[]
}

export const HISTORY_FILE = fileURLToPath(new URL('../history.ndjson', import.meta.url))

/** What was recorded; nothing where there is no file yet. A broken line is told and left out. */
export function readHistory(file = HISTORY_FILE): History {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const entries: HistoryEntry[] = []
  const broken: string[] = []
  for (const [at, line] of lines.entries()) {
    if (line === '') continue
    const entry = parseEntry(line)
    if (typeof entry === 'string') broken.push(`${basename(file)}, line ${at + 1}: ${entry}`)
    else entries.push(entry)
  }
  return { entries, broken }
}

/** Adds a line, whatever the last one ended in. */
export function appendEntry(entry: HistoryEntry, file = HISTORY_FILE): void {
  const isCutOff = existsSync(file) && !/(^|\n)$/.test(readFileSync(file, 'utf8'))
  appendFileSync(file, `${isCutOff ? '\n' : ''}${JSON.stringify(entry)}\n`)
}

/** The entry, or what is wrong with it. */
function parseEntry(line: string): HistoryEntry | string {
  try {
    const value: unknown = JSON.parse(line)
    if (Value.Check(HistoryEntry, value)) return value
    const error = Value.Errors(HistoryEntry, value).First()
    return `${error?.path || '/'}: ${error?.message}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
