import { readFileSync } from 'node:fs'
import { type ChangelogEntry, parseChangelog } from './changelog.ts'

// As far from `src/openapi` as from `dist/openapi`.
const folder = new URL('../../openapi/', import.meta.url)

/** A file of the top folder `openapi`, which the image and the package have too. @throws Error if it is not there */
export function readOpenApiFile(path: string): Buffer {
  return readFileSync(new URL(path, folder))
}

/** The changes of the API. @throws Error that says what is wrong with them */
export function readChangelog(): ChangelogEntry[] {
  return parseChangelog(readOpenApiFile('changes.json').toString())
}
