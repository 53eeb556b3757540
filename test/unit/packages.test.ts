import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const manifest = (folder: string) =>
  JSON.parse(readFileSync(new URL(`../../${folder}/package.json`, import.meta.url), 'utf8'))
const root = manifest('.')

describe.each<string>(root.workspaces)('the package %s', (folder) => {
  const { version, license, engines, dependencies = {} } = manifest(folder)

  it('a workspace package has the version and the license of the root', () => {
    expect({ version, license }).toEqual({ version: root.version, license: root.license })
  })

  it('a workspace package has no dependencies but pinned ones of the command', () => {
    const expected = folder === 'src/orders-cli' ? ['hucre', 'leven'] : []
    expect(Object.keys(dependencies)).toEqual(expected)
    for (const pinned of Object.values(dependencies)) expect(pinned).toMatch(/^\d+\.\d+\.\d+$/)
  })

  it('runs on Node 20.3', () => {
    expect(engines).toEqual({ node: '>=20.3' })
  })
})
