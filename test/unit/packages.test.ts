import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const manifest = (folder: string) =>
  JSON.parse(readFileSync(new URL(`../../${folder}/package.json`, import.meta.url), 'utf8'))
const root = manifest('.')

describe.each<string>(root.workspaces)('the package %s', (folder) => {
  const { version, license, engines, dependencies } = manifest(folder)

  it('a workspace package has the version and the license of the root, and no dependencies', () => {
    expect({ version, license, dependencies }).toEqual({
      version: root.version,
      license: root.license,
      dependencies: undefined,
    })
  })

  it('runs on Node 20.3', () => {
    expect(engines).toEqual({ node: '>=20.3' })
  })
})
