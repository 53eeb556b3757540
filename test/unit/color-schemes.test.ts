import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sheets = globSync(['src/console/**/*.css', 'openapi/page/*.css'], { cwd: root })

const DARK_BLOCK = /@media \(prefers-color-scheme: dark\) \{\s*:root \{([^}]*)\}\s*\}/g

/** The declarations of each block for dark colors. */
function darkBlocks(css: string): string[][] {
  return [...css.matchAll(DARK_BLOCK)].map(([, body = '']) =>
    body
      .split(';')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  )
}
const read = (sheet: string) => readFileSync(`${root}/${sheet}`, 'utf8')

// The browser tests check only the contrast of dark colors.
it.each(sheets)('%s changes nothing but custom properties in dark colors', (sheet) => {
  const blocks = darkBlocks(read(sheet))
  expect(read(sheet).match(/prefers-color-scheme/g) ?? []).toHaveLength(blocks.length)
  expect(blocks.flat().filter((line) => !line.startsWith('--'))).toEqual([])
})

it('the documentation and the console have dark colors', () => {
  const dark = sheets.filter((sheet) => darkBlocks(read(sheet)).flat().length > 0)
  expect(dark.toSorted()).toEqual(['openapi/page/page.css', 'src/console/styles/theme.css'])
})
