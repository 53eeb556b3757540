import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { findHaproxy, isNewEnough } from '../../harness/services/haproxy.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})

/** A program that prints the output of `haproxy -v` for this version. */
function install(version: string): string {
  const program = join(folder, 'haproxy')
  writeFileSync(
    program,
    `#!/bin/sh\necho 'HAProxy version ${version} 2026/01/01 - https://haproxy.org/'\n`,
  )
  chmodSync(program, 0o755)
  return program
}

describe('the HAProxy of this machine', () => {
  it('the search finds HAProxy on the path', async () => {
    const program = install('2.6.12-1+deb12u4')
    expect(await findHaproxy({ PATH: folder }, [])).toBe(program)
  })

  it('the search finds HAProxy in a system folder outside the path', async () => {
    const program = install('3.2.22')
    expect(await findHaproxy({ PATH: '' }, [folder])).toBe(program)
  })

  it('the search finds nothing when HAProxy is too old or missing', async () => {
    expect(await findHaproxy({ PATH: folder }, [])).toBeUndefined()
    install('2.4.30')
    expect(await findHaproxy({ PATH: folder }, [])).toBeUndefined()
  })
})

describe('a version of HAProxy', () => {
  it.each(['2.6.0', '2.10.1', '3.0.11', '3.2.22', '10.0'])('HAProxy %s is accepted', (version) => {
    expect(isNewEnough(`HAProxy version ${version} 2026/01/01`)).toBe(true)
  })

  it.each(['2.5.14', '1.8.30', '2.0.31', 'unknown'])('HAProxy %s is rejected', (version) => {
    expect(isNewEnough(`HA-Proxy version ${version} 2020/01/01`)).toBe(false)
  })
})
