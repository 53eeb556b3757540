import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { vi } from 'vitest'
import { makeCertificate } from '../../harness/services/certificate.ts'
import { startOpenSearch } from '../../harness/services/opensearch/opensearch.ts'
import {
  ADMIN,
  basicAuthorization,
  PASSWORD,
  type Role,
} from '../../harness/services/opensearch/security-plugin.ts'
import { startRedis } from '../../harness/services/redis.ts'
import { createBackend } from '../stores/backend.ts'
import { PREFIX } from './documented-role.ts'

/** The audit log is written in the background. */
const LOG_TIMEOUT = { timeout: 30_000, interval: 50 }

/** One call as the security plugin judged it. */
export interface AuditedCall {
  user: string
  /** `GRANTED_PRIVILEGES`, `MISSING_PRIVILEGES`, `FAILED_LOGIN`, … */
  category: string
  /** The permission, such as `indices:data/read/search`. */
  action: string
  /** As requested, and the concrete ones behind aliases and patterns. */
  indices: readonly string[]
}

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

export type SecuredCluster = Awaited<ReturnType<typeof startSecuredCluster>>

/**
 * OpenSearch with the security plugin, behind TLS, and a Redis. Each role has a user of its name.
 */
export async function startSecuredCluster(roles: Readonly<Record<string, Role>>) {
  const certificate = await makeCertificate()
  const redis = await startRedis()
  const cluster = await startOpenSearch({ nodes: 1, heapMb: 512, security: { certificate, roles } })
  const [{ url, logFile } = { url: '', logFile: '' }] = cluster.nodes
  const { backend, caFile } = await openBackend(redis.url, certificate.ca)
  const dispatcher = new Agent({ connect: { ca: certificate.ca } })

  async function send(user: string, method: Method, path: string, body?: object, node = url) {
    const headers = {
      authorization: basicAuthorization(user),
      ...(body && { 'content-type': 'application/json' }),
    }
    const options = { method, headers, dispatcher, ...(body && { body: JSON.stringify(body) }) }
    const response = await request(`${node}/${path}`, options)
    return { status: response.statusCode, text: await response.body.text() }
  }

  const asAdmin = (method: Method, path: string, body?: object) => send(ADMIN, method, path, body)

  /** The log once it has a call to each node that was sent after all others. */
  async function completeLog(): Promise<string> {
    const markers = cluster.nodes.map((node) => ({ node, name: `marker-${randomUUID()}` }))
    for (const { node, name } of markers) {
      await send(ADMIN, 'GET', `${name}/_count`, undefined, node.url)
    }
    return await vi.waitFor(async () => {
      const log = await readFile(logFile, 'utf8')
      const late = markers.find(({ name }) => !log.includes(name))
      if (late) throw new Error(`the audit log of ${late.node.url} has no ${late.name}`)
      return log
    }, LOG_TIMEOUT)
  }

  return {
    folder: backend.folder,
    /** The folder for snapshot repositories. */
    snapshots: cluster.snapshots,
    /** Sends a request as a user of a role, or as one that no role limits. */
    send,
    asAdmin,

    /** The settings of the service as this user. */
    env(user: string, password = PASSWORD): Record<string, string> {
      const credentials = `${user}:${encodeURIComponent(password)}@`
      return {
        ...backend.env,
        OPENSEARCH_URL: cluster.url.replaceAll('://', `://${credentials}`),
        OPENSEARCH_CA_FILE: caFile,
        INDEX_PREFIX: PREFIX,
      }
    },

    /** Every call so far of this user. */
    async calls(user: string): Promise<AuditedCall[]> {
      return [...(await completeLog()).matchAll(/\[audit *\] (\{.*\})$/gm)]
        .map(([, line = '']) => auditedCall(JSON.parse(line)))
        .filter((call) => call.user === user)
    },

    async stop() {
      await dispatcher.close()
      await Promise.all([cluster.stop(), redis.stop(), rm(backend.folder, { recursive: true })])
    },
  }
}

/** Settings of isolated stores, and the file of the authority. */
async function openBackend(redisUrl: string, ca: string) {
  vi.stubEnv('REDIS_URL', redisUrl)
  const backend = createBackend()
  vi.unstubAllEnvs()
  const caFile = join(backend.folder, 'ca.pem')
  await writeFile(caFile, ca)
  return { backend, caFile }
}

function auditedCall(entry: Record<string, unknown>): AuditedCall {
  const names = ['audit_trace_indices', 'audit_trace_resolved_indices'].flatMap(
    (field) => (entry[field] as string[] | undefined) ?? [],
  )
  return {
    user: String(entry['audit_request_effective_user']),
    category: String(entry['audit_category']),
    action: String(entry['audit_request_privilege'] ?? entry['audit_rest_request_path']),
    indices: [...new Set(names)],
  }
}
