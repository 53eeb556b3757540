import { describe, expect, it } from 'vitest'
import { anchorOf } from '../../../scripts/openapi/page/sections.ts'
import {
  MAX_CALLS,
  MAX_SOURCE_ORDERS_BYTES,
} from '../../../src/http/management/routes/source-orders.ts'
import { MAX_LINES } from '../../../src/management/ingestion/source-lines.ts'
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

  it('states the limits of a push that the service has', () => {
    const [line = ''] = guide
      .split('\n')
      .filter((text) => text.startsWith('`POST /v1/source-orders`'))
    const limits = [
      `até ${MAX_LINES.toLocaleString('pt-BR')} linhas e ${MAX_SOURCE_ORDERS_BYTES / 2 ** 20} MiB`,
      `até ${MAX_CALLS} chamadas ao mesmo tempo`,
    ]
    for (const limit of limits) expect(line).toContain(limit)
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
