import { execFile } from 'node:child_process'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cachedFolder, npm } from '../../support/cli/cached-folder.ts'
import { runProgram } from '../../support/cli/program.ts'

// n8n has the Sustainable Use License: a test may run it, and no code of the project depends on it.
const CORE = 'n8n-core@2.40.3'
const NODES = 'n8n-nodes-base@2.40.2'
/** The dependencies that the nodes of a recipe load; the others are for other nodes. */
const LOADED_BY_NODES = [
  '@mozilla/readability',
  'basic-auth',
  'cheerio',
  'html-to-text',
  'isbot',
  'jsdom',
  'moment-timezone',
  'tmp-promise',
]
/** Dependencies that the engine does not load here: clouds, native code, the editor. */
const NOT_LOADED = [
  ...['@azure/identity', '@azure/storage-blob', '@aws-sdk/client-s3', '@sentry/node'],
  ...['@sentry/node-native', '@sentry/profiling-node', '@n8n/workflow-sdk', 'isolated-vm'],
]
const RUN = fileURLToPath(new URL('n8n-run.ts', import.meta.url))
/** The program that serves the webhook of a workflow. */
export const RECEIVER = fileURLToPath(new URL('n8n-receiver.ts', import.meta.url))

/**
 * Installs the engine and nodes of n8n on first use, about 80 MB in 20 seconds; returns their
 * folder.
 */
export async function installN8n(): Promise<string> {
  return await cachedFolder('n8n', `${[CORE, NODES, ...LOADED_BY_NODES, ...NOT_LOADED]}`, install)
}

async function install(folder: string): Promise<void> {
  const nothing = join(folder, 'nothing')
  await mkdir(nothing)
  await writeFile(join(nothing, 'package.json'), '{"name":"nothing","version":"1.0.0"}')
  const overrides = Object.fromEntries(NOT_LOADED.map((name) => [name, 'file:nothing']))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, overrides }))

  const nodes = join(folder, 'node_modules/n8n-nodes-base')
  await npm(folder, 'pack', NODES)
  const packed = `${NODES.replace('@', '-')}.tgz`
  await promisify(execFile)('tar', ['-xzf', packed], { cwd: folder })
  const { dependencies } = JSON.parse(
    await readFile(join(folder, 'package/package.json'), 'utf8'),
  ) as { dependencies: Record<string, string> }
  const versions = LOADED_BY_NODES.map((name) => `${name}@${dependencies[name]}`)
  await npm(folder, 'install', '--no-save', '--no-package-lock', CORE, ...versions)
  await rename(join(folder, 'package'), nodes)
}

/** The input of the engine. */
export interface N8nRun {
  workflow: N8nWorkflow
  /** The node that starts it. */
  start: string
  /** The node whose items are returned. */
  end: string
  /** The content of the credential. */
  token: string
}

export interface N8nWorkflow {
  nodes: {
    name: string
    type: string
    parameters: Record<string, unknown>
    credentials?: Record<string, { name: string }>
    [setting: string]: unknown
  }[]
  [setting: string]: unknown
}

export interface N8nOutcome {
  /** The output of the last node; `null` when the run did not reach it. */
  items: unknown[] | null
  error: string | null
}

/** Runs a workflow in n8n's own engine, in a separate process. */
export async function runN8n(folder: string, run: N8nRun): Promise<N8nOutcome> {
  const env = { N8N_USER_FOLDER: folder, N8N_ENCRYPTION_KEY: 'none', N8N_MODULES: folder }
  const input = JSON.stringify(run)
  const { stdout, stderr } = await runProgram('node', [RUN], { cwd: folder, env, input })
  const outcome = stdout.trim().split('\n').at(-1)
  if (!outcome?.startsWith('{')) throw new Error(`n8n did not run:\n${stdout}${stderr}`)
  return JSON.parse(outcome) as N8nOutcome
}
