import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installation } from '../../../../scripts/installations.ts'
import { mavenClassPath } from '../maven-class-path.ts'

/** The broker, and the writer of its log. */
const ARTIFACTS = ['org.apache.kafka:kafka_2.13:4.1.1', 'org.slf4j:slf4j-simple:1.7.36'] as const

/** Settings that the formatting of a data folder depends on. */
export const IDENTITY = {
  'process.roles': 'broker,controller',
  'node.id': '1',
  'controller.listener.names': 'CONTROLLER',
} as const

const CLUSTER_ID = 'MkU3OEVBNTcwNTJENDM2Qk'
const FORMAT_SETTINGS = {
  ...IDENTITY,
  'controller.quorum.voters': '1@127.0.0.1:9093',
  listeners: 'PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093',
  'log.dirs': '.',
}
const FORMAT_MS = 60_000

/** The class path of the broker. */
export async function kafkaClassPath(maven: string, java: string): Promise<string> {
  return await mavenClassPath({ name: 'kafka', artifacts: ARTIFACTS }, maven, java)
}

/** A formatted data folder, which each broker copies: formatting takes a JVM of its own. */
export async function formattedData(classPath: string, java: string): Promise<string> {
  const wanted = [...ARTIFACTS, toProperties(FORMAT_SETTINGS)].join('\n')
  return await installation('kafka-data', wanted, async (folder) => {
    const settings = join(folder, 'format.properties')
    await writeFile(settings, toProperties(FORMAT_SETTINGS))
    const format = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', settings]
    const options = { cwd: folder, timeout: FORMAT_MS }
    await promisify(execFile)(java, ['-cp', classPath, ...format], options)
  })
}

/** The text of a properties file. */
export function toProperties(settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  return lines.join('')
}
