import { describe, expect, it } from 'vitest'
import {
  availableSources,
  describeMissingService,
  describeMissingTools,
} from '../../harness/services/service-sources.ts'

describe('the ways to run a service', () => {
  it('the harness prefers a given address', () => {
    expect(availableSources({ isConfigured: true, hasDocker: true, missingTools: [] })).toEqual([
      'given',
    ])
    expect(
      availableSources({ isConfigured: true, hasDocker: false, missingTools: ['jdk'] }),
    ).toEqual(['given'])
  })

  it('the harness prefers a container and falls back to a local process', () => {
    expect(availableSources({ isConfigured: false, hasDocker: true, missingTools: [] })).toEqual([
      'container',
      'process',
    ])
  })

  it('the harness needs no local tools when Docker runs', () => {
    expect(
      availableSources({ isConfigured: false, hasDocker: true, missingTools: ['jdk', 'maven'] }),
    ).toEqual(['container'])
  })

  it('the harness uses a local process without Docker', () => {
    expect(availableSources({ isConfigured: false, hasDocker: false, missingTools: [] })).toEqual([
      'process',
    ])
  })

  it('the harness has no source without Docker when a tool is missing', () => {
    expect(
      availableSources({ isConfigured: false, hasDocker: false, missingTools: ['redis-server'] }),
    ).toEqual([])
  })
})

describe('the message about a missing service', () => {
  it('the message names the missing parts and what to install', () => {
    expect(describeMissingService('Redis', 'REDIS_URL', ['redis-server'])).toBe(
      'Redis: no REDIS_URL, no Docker engine, no redis-server on the path. ' +
        'Install redis-server (Debian: apt-get install -y redis-server), or start Docker.',
    )
  })

  it('the message names every missing tool', () => {
    const sentence = describeMissingService('OpenSearch', 'OPENSEARCH_URL', ['jdk', 'maven'])
    expect(sentence).toContain('no JDK >= 21, no mvn on the path')
    expect(sentence).toMatch(/Install a JDK >= 21 \(.+\) and Maven \(.+\), or start Docker\.$/)
  })

  it('the message omits installed tools', () => {
    const sentence = describeMissingService('OpenSearch', 'OPENSEARCH_URL', ['maven'])
    expect(sentence).not.toContain('JDK')
  })
})

describe('the message about a skipped tier', () => {
  it('the message names every missing tool and what to install', () => {
    expect(describeMissingTools('resilience', ['maven', 'redis-server'])).toBe(
      'resilience: no mvn on the path, no redis-server on the path. ' +
        'Install Maven (Debian: apt-get install -y maven) and ' +
        'redis-server (Debian: apt-get install -y redis-server).',
    )
  })

  it('the message names only tools that the tier needs', () => {
    expect(describeMissingTools('proxy', ['haproxy'])).toBe(
      'proxy: no HAProxy >= 2.6. Install HAProxy (Debian: apt-get install -y haproxy).',
    )
  })
})
