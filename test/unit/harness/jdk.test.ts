import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { findJava, javaHome, parseJavaMajor } from '../../harness/tools/jdk.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

describe('the major version of a JVM', () => {
  it.each([
    ['openjdk version "21.0.5" 2024-10-15\nOpenJDK Runtime Environment', 21],
    ['openjdk version "25" 2025-09-16', 25],
    ['openjdk version "22-ea" 2024-03-19', 22],
    ['Picked up JAVA_TOOL_OPTIONS: -Xmx1g\njava version "17.0.9" 2023-10-17 LTS', 17],
    ['java version "1.8.0_392"', 8],
  ])('the major version of a JVM is read from %j', (text, major) => {
    expect(parseJavaMajor(text)).toBe(major)
  })

  it.each(['', 'The operation could not be completed.', 'version 21'])(
    'no major version is parsed from %j',
    (text) => {
      expect(parseJavaMajor(text)).toBeUndefined()
    },
  )
})

describe('the search for a JVM', () => {
  let folder: string
  beforeEach(() => {
    folder = createTestFolder()
  })

  /** A JAVA_HOME with a `java` that prints this version. */
  function jvm(name: string, version: string): string {
    const java = join(folder, name, 'bin/java')
    mkdirSync(dirname(java), { recursive: true })
    writeFileSync(java, `#!/bin/sh\necho 'openjdk version "${version}"' >&2\n`, { mode: 0o755 })
    return javaHome(java)
  }

  it('the search skips JAVA_HOME and the path when they are too old', async () => {
    const old = jvm('old', '17.0.9')
    const recent = jvm('jvms/recent', '21.0.5')
    const env = { JAVA_HOME: old, PATH: join(old, 'bin') }
    expect(await findJava(env, [join(folder, 'jvms/*')])).toBe(join(recent, 'bin/java'))
  })

  it('the search prefers JAVA_HOME', async () => {
    const own = jvm('own', '21.0.5')
    jvm('jvms/recent', '25.0.1')
    const found = await findJava({ JAVA_HOME: own }, [join(folder, 'jvms/*')])
    expect(found).toBe(join(own, 'bin/java'))
  })

  it('the search tries the path last', async () => {
    const onPath = jvm('on-path', '25.0.1')
    expect(await findJava({ PATH: join(onPath, 'bin') }, [])).toBe(join(onPath, 'bin/java'))
  })

  it('the search finds no JVM when all are too old or fail to run', async () => {
    jvm('jvms/old', '20.0.2')
    mkdirSync(join(folder, 'jvms/empty'))
    expect(await findJava({}, [join(folder, 'jvms/*')])).toBeUndefined()
  })
})
