import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { installation, installationCache } from '../../../scripts/installations.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'

let place: ReturnType<typeof temporaryFolder>
let fills: string[]
beforeEach(() => {
  place = temporaryFolder()
  fills = []
})
afterEach(() => place.remove())

const install = (wanted: string, fail = false) =>
  installation(
    'tool',
    wanted,
    async (folder) => {
      fills.push(folder)
      writeFileSync(join(folder, 'program'), wanted)
      if (fail) throw new Error('no network')
    },
    { root: place.folder, log() {} },
  )

describe('an installation', () => {
  it('is filled once, and is the same folder afterwards', async () => {
    const folder = await install('lock 1')
    expect(await install('lock 1')).toBe(folder)
    expect(fills).toEqual([folder])
  })

  it('of another lock file is filled beside it, which keeps both', async () => {
    const [first, second] = [await install('lock 1'), await install('lock 2')]
    expect(first).not.toBe(second)
    expect(existsSync(join(first, 'program'))).toBe(true)
    expect(await install('lock 1')).toBe(first)
  })

  it('that failed leaves nothing behind, and is filled at the next call', async () => {
    await expect(install('lock 1', true)).rejects.toThrow('no network')
    expect(readdirSync(place.folder)).toEqual([])
    await install('lock 1')
    expect(fills).toHaveLength(2)
  })

  it('whose folder was removed is filled again', async () => {
    rmSync(await install('lock 1'), { recursive: true })
    expect(existsSync(join(await install('lock 1'), 'program'))).toBe(true)
  })

  it('that two processes make at once is complete for both', async () => {
    const folders = await Promise.all([install('lock 1'), install('lock 1')])
    for (const folder of folders) expect(existsSync(join(folder, 'program'))).toBe(true)
  })
})

describe('the folder of all installations', () => {
  it('is in the cache folder of the user', async () => {
    const env = { XDG_CACHE_HOME: place.folder }
    expect(await installationCache(env)).toBe(join(place.folder, 'public-orders-api'))
  })

  it('is in the project where that cannot be created', async () => {
    const file = join(place.folder, 'file')
    writeFileSync(file, '')
    expect(await installationCache({ XDG_CACHE_HOME: file })).toContain('node_modules')
  })
})
