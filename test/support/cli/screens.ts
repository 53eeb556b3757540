import type { Screen } from '../../../src/lib/status-line.ts'

export const WIPE = '\r\x1b[K'

export interface RecordingScreen extends Screen {
  written: string[]
}

/** A screen that records each write. */
export function createScreen({ isTTY = true, columns = 80 } = {}): RecordingScreen {
  const written: string[] = []
  return { isTTY, columns, written, write: (text) => written.push(text) }
}
