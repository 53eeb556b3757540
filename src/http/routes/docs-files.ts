import { readOpenApiFile } from '../../openapi/openapi-files.ts'
import { JSON_TYPE } from '../headers.ts'
import { etagOf } from '../plugins/conditional.ts'

export interface DocsFile {
  bytes: Buffer
  type: string
  etag: string
}

const MARKDOWN = 'text/markdown; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

/** Committed files, served verbatim: path → file below the folder `openapi`, and its type. */
const committedFiles = {
  '/openapi.json': ['openapi.json', JSON_TYPE],
  '/docs.md': ['docs.md', MARKDOWN],
  // Markdown, but as plain text browsers display it.
  '/llms.txt': ['llms.txt', 'text/plain; charset=utf-8'],
  '/docs/changes.atom': ['changes.atom', 'application/atom+xml; charset=utf-8'],
  '/docs/icon.svg': ['page/icon.svg', 'image/svg+xml'],
  '/docs/page.css': ['page/page.css', 'text/css; charset=utf-8'],
  '/docs/strict-styles.js': ['page/strict-styles.js', SCRIPT],
  '/docs/start.js': ['page/start.js', SCRIPT],
  '/docs/texts.js': ['page/texts.js', SCRIPT],
  '/docs/client-texts.js': ['page/client-texts.js', SCRIPT],
} as const

/** Reads all files at start, to fail early. @throws Error naming the missing file */
export function readDocsFiles(): Map<string, DocsFile> {
  const files = Object.entries(committedFiles).map(([path, [file, type]]) => {
    const bytes = readOpenApiFile(file)
    return [path, { bytes, type, etag: etagOf(bytes) }]
  })
  return new Map(files as [string, DocsFile][])
}
