import { recipeFiles } from './recipe-files.ts'

/** The files of a documentation below the folder `openapi`, by path. */
export type DocsContents = Readonly<Record<string, string>>

const pageFiles = {
  '/favicon.ico': 'page/favicon.ico',
  '/docs/icon.svg': 'page/icon.svg',
  '/docs/page.css': 'page/page.css',
  '/docs/reference.css': 'page/reference.css',
  '/docs/start.js': 'page/start.js',
  '/docs/copy.js': 'page/copy.js',
  '/docs/menu.js': 'page/menu.js',
  '/docs/search.js': 'page/search.js',
  '/docs/try.js': 'page/try.js',
} as const

/** The documentation of the public API. Every recipe can be downloaded. */
export const publicDocs: DocsContents = {
  '/docs': 'docs.html',
  '/openapi.json': 'openapi.json',
  '/docs.md': 'docs.md',
  '/llms.txt': 'llms.txt',
  '/docs/changes.atom': 'changes.atom',
  ...Object.fromEntries(recipeFiles.map((file) => [`/docs/recipes/${file}`, `recipes/${file}`])),
  ...pageFiles,
}

export const managementDocs: DocsContents = {
  '/docs': 'management/docs.html',
  '/openapi.json': 'management.json',
  '/docs/guide.md': 'management/guide.md',
  ...pageFiles,
}
