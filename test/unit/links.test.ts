import { globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { anchorOf } from '../../scripts/openapi/page/sections.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const find = (...patterns: string[]) => globSync(patterns, { cwd: root, exclude: isIgnored })
const isIgnored = (path: string) => /(^|\/)(node_modules|dist|data)(\/|$)/.test(path)

const documents = find('**/*.md')
/** Chapters of one page: their anchors are checked in the page, `openapi/docs.md`. */
const isChapter = (file: string) => file.startsWith('openapi/guide/')

const withoutFences = (text: string) => text.replace(/^ *```[\s\S]*?^ *```/gm, '')
const withoutCode = (text: string) => withoutFences(text).replace(/`[^`\n]*`/g, '')

const headingsOf = (file: string) =>
  [...withoutFences(read(file)).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title)

const exists = (path: string) => statSync(join(root, path), { throwIfNoEntry: false }) !== undefined

/** Whether a link of a document points to a file of the repository, and to a heading in it. */
function resolves(file: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  if (path === '' && isChapter(file)) return true
  const target = path === '' ? file : normalize(join(dirname(file), path))
  if (!exists(target)) return false
  return anchor === undefined || headingsOf(target).map(anchorOf).includes(anchor)
}

describe('links between the documents', () => {
  it('the documents are found', () => {
    expect(documents).toEqual(expect.arrayContaining(['README.md', 'docker/indexing.md']))
  })

  it.each(documents)('every relative link of %s points to a file and a heading', (file) => {
    const links = [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, link = '']) => link,
    )
    const relative = links.filter((link) => !/^(https?:|mailto:|\/)/.test(link))
    expect(relative.filter((link) => !resolves(file, link))).toEqual([])
  })
})

describe('documents that the code and the settings name', () => {
  const files = find('src/**/*.ts', 'scripts/**/*.ts', 'docker/**/*.*', '*.yml', '.env.example')
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\b(docker\/[\w/-]+\.md)(?:, \\?"([^"\\]+)\\?")?/g)].map(
      ([, document = '', heading]) => ({ file, document, heading }),
    ),
  )

  it.each(named)('$document, named by $file, exists', ({ document, heading }) => {
    expect(exists(document)).toBe(true)
    if (heading !== undefined) expect(headingsOf(document)).toContain(heading)
  })
})
