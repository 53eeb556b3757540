import { JSON_TYPE } from '../headers.ts'

const MARKDOWN = 'text/markdown; charset=utf-8'
export const SCRIPT = 'text/javascript; charset=utf-8'

/** A file below the folder `openapi`, and its type. */
type CommittedFile = readonly [file: string, type: string]

/** The documentation of one API. */
export interface DocsContents {
  title: string
  summary: string
  /** What a reader without JavaScript opens. */
  plain: string
  /** Other forms of the content, for the head of the page. */
  alternates: readonly { href: string; type: string; title: string }[]
  /** Committed files, served verbatim, by path. */
  files: Readonly<Record<string, CommittedFile>>
}

const pageFiles = {
  '/docs/icon.svg': ['page/icon.svg', 'image/svg+xml'],
  '/docs/page.css': ['page/page.css', 'text/css; charset=utf-8'],
  '/docs/strict-styles.js': ['page/strict-styles.js', SCRIPT],
  '/docs/start.js': ['page/start.js', SCRIPT],
  '/docs/texts.js': ['page/texts.js', SCRIPT],
  '/docs/client-texts.js': ['page/client-texts.js', SCRIPT],
} as const

export const publicDocs: DocsContents = {
  title: 'API de Pedidos: documentação',
  summary: 'Documentação da API de Pedidos: guia, referência e exemplos.',
  plain: '/docs.md',
  alternates: [
    { href: '/docs.md', type: 'text/markdown', title: 'Esta documentação em Markdown' },
    { href: '/docs/changes.atom', type: 'application/atom+xml', title: 'Mudanças da API' },
  ],
  files: {
    '/openapi.json': ['openapi.json', JSON_TYPE],
    '/docs.md': ['docs.md', MARKDOWN],
    // Markdown, but as plain text browsers display it.
    '/llms.txt': ['llms.txt', 'text/plain; charset=utf-8'],
    '/docs/changes.atom': ['changes.atom', 'application/atom+xml; charset=utf-8'],
    ...pageFiles,
  },
}

export const managementDocs: DocsContents = {
  title: 'API de gestão: documentação',
  summary: 'Documentação da API de gestão: guia e referência.',
  plain: '/docs/guide.md',
  alternates: [{ href: '/docs/guide.md', type: 'text/markdown', title: 'O guia em Markdown' }],
  files: {
    '/openapi.json': ['management.json', JSON_TYPE],
    '/docs/guide.md': ['management/guide.md', MARKDOWN],
    ...pageFiles,
  },
}
