import { describe, expect, it } from 'vitest'
import { anchorOf } from '../../../scripts/openapi/page/sections.ts'
import { managementErrorCatalogue } from '../../../src/openapi/management/schemas.ts'
import { readOpenApiFile } from '../../../src/openapi/openapi-files.ts'

const guide = readOpenApiFile('management/guide.md').toString()
const prose = guide.replace(/^```[\s\S]*?^```/gm, '')

describe('the guide of the management API', () => {
  it('says what to do for each error, with its status', () => {
    const rows = [...guide.matchAll(/^\| (\d{3}) \| `(\w+)` \| (.{20,}) \|$/gm)]
    const documented = rows.map(([, status, code]) => `${status} ${code}`)
    const catalogue = Object.entries(managementErrorCatalogue).map(
      ([code, { status }]) => `${status} ${code}`,
    )
    expect(documented.filter((row) => !/^41[35] /.test(row))).toEqual(catalogue)
  })

  it('says of an unknown outcome why it is unknown, and that the change may exist', () => {
    const [line = ''] = guide.split('\n').filter((text) => text.includes('`unknown`'))
    for (const fact of ['o processo terminou no meio', '`503`', 'em parte', 'repita']) {
      expect(line).toContain(fact)
    }
    const { components } = JSON.parse(readOpenApiFile('management.json').toString())
    expect(components.schemas.AuditEntry.properties.outcome.description).toContain(
      'a mudança pode existir',
    )
  })

  it('links to its own chapters only', () => {
    const chapters = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => anchorOf(title))
    const links = [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target)
    expect(links.length).toBeGreaterThan(1)
    expect(links.filter((target) => !chapters.includes(target.slice(1)))).toEqual([])
  })
})
