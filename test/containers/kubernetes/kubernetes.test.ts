import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { installPython } from '../../../scripts/python/packages.ts'
import { runToEnd } from '../../harness/containers/docker.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'

const INSTALL_MS = 300_000
const FOLDER = fileURLToPath(new URL('../../../docker/kubernetes/', import.meta.url))
const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url))
const files = globSync('*.yaml', { cwd: FOLDER })
let programs: string

beforeAll(async () => {
  programs = await installPython({ name: 'kubernetes', requirements }, console.error)
}, INSTALL_MS)

/** Validates against the schemas of Kubernetes 1.37, in which an unknown field is an error. */
const validate = (path: string) =>
  runToEnd([join(programs, 'kubernetes-validate'), '--strict', '-k', '1.37', path])

describe('the example for Kubernetes', () => {
  it.each(files)('%s is valid by the schemas of Kubernetes', async (file) => {
    const { code, stdout, stderr } = await validate(join(FOLDER, file))
    expect({ code, stdout, stderr }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('passed'),
    })
  })

  it('a field with a typing error is reported', async () => {
    const api = readFileSync(join(FOLDER, 'api.yaml'), 'utf8')
    const { folder, remove } = temporaryFolder()
    writeFileSync(join(folder, 'api.yaml'), api.replace('readinessProbe', 'readinesProbe'))
    const { code, stdout, stderr } = await validate(join(folder, 'api.yaml'))
    remove()
    expect(code).not.toBe(0)
    expect(stdout + stderr).toContain("'readinesProbe' was unexpected")
  })
})
