import { readFileSync } from 'node:fs'
import { type ChangelogEntry, parseChangelog } from './changelog.ts'

// The same relative path from `src/openapi` and `dist/openapi`.
const folder = new URL('../../openapi/', import.meta.url)

/**
 * Reads a file of the top folder `openapi`, which image and package include.
 * @throws Error if absent
 */
export function readOpenApiFile(path: string): Buffer {
  return readFileSync(new URL(path, folder))
}

/** Reads the API changelog. @throws Error naming the invalid entry */
export function readChangelog(): ChangelogEntry[] {
  return parseChangelog(readOpenApiFile('changes.json').toString())
}
