import { describe, expect, it } from 'vitest'
import {
  availableSources,
  describeMissingService,
  describeMissingTools,
} from '../../harness/services/service-sources.ts'

describe('the ways to run a service', () => {
  it('takes the address that is given, whatever else there is', () => {
    expect(availableSources({ isConfigured: true, hasDocker: true, missingTools: [] })).toEqual([
      'given',
    ])
    expect(
      availableSources({ isConfigured: true, hasDocker: false, missingTools: ['jdk'] }),
    ).toEqual(['given'])
  })

  it('prefers a container, and falls back to a local process', () => {
    expect(availableSources({ isConfigured: false, hasDocker: true, missingTools: [] })).toEqual([
      'container',
      'process',
    ])
  })

  it('needs no local tools where Docker runs', () => {
    expect(
      availableSources({ isConfigured: false, hasDocker: true, missingTools: ['jdk', 'maven'] }),
    ).toEqual(['container'])
  })

  it('takes a local process where there is no Docker', () => {
    expect(availableSources({ isConfigured: false, hasDocker: false, missingTools: [] })).toEqual([
      'process',
    ])
  })

  it('has none where a tool is lacking and there is no Docker', () => {
    expect(
      availableSources({ isConfigured: false, hasDocker: false, missingTools: ['redis-server'] }),
    ).toEqual([])
  })
})

describe('what is said of a service that is missing', () => {
  it('names what was looked for and what to install', () => {
    expect(describeMissingService('Redis', 'REDIS_URL', ['redis-server'])).toBe(
      'Redis: no REDIS_URL, no Docker engine, no redis-server on the path. ' +
        'Install redis-server (Debian: apt-get install -y redis-server), or start Docker.',
    )
  })

  it('names every tool that is lacking', () => {
    const sentence = describeMissingService('OpenSearch', 'OPENSEARCH_URL', ['jdk', 'maven'])
    expect(sentence).toContain('no JDK >= 21, no mvn on the path')
    expect(sentence).toMatch(/Install a JDK >= 21 \(.+\) and Maven \(.+\), or start Docker\.$/)
  })

  it('does not ask for a tool that is there', () => {
    const sentence = describeMissingService('OpenSearch', 'OPENSEARCH_URL', ['maven'])
    expect(sentence).not.toContain('JDK')
  })
})

describe('what is said of a tier that was left out', () => {
  it('names every tool that is lacking and what to install', () => {
    expect(describeMissingTools('resilience', ['maven', 'redis-server'])).toBe(
      'resilience: no mvn on the path, no redis-server on the path. ' +
        'Install Maven (Debian: apt-get install -y maven) and ' +
        'redis-server (Debian: apt-get install -y redis-server).',
    )
  })

  it('names no more than the tier needs', () => {
    expect(describeMissingTools('proxy', ['haproxy'])).toBe(
      'proxy: no HAProxy >= 2.6. Install HAProxy (Debian: apt-get install -y haproxy).',
    )
  })
})
