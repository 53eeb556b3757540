import { extname } from 'node:path'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.atom': 'application/atom+xml; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The type of a file. Programs are plain text, which browsers display. */
export function contentTypeOf(file: string): string {
  return CONTENT_TYPES[extname(file)] ?? 'text/plain; charset=utf-8'
}
