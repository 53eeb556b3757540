import { openRedisStream } from '../../../src/stores/redis/stream.ts'
import { createBackend } from '../../support/stores/backend.ts'
import { openChangeFeed } from '../../support/streams/change-feed.ts'
import { describeChangeStream } from '../../support/streams/change-stream-contract.ts'

describeChangeStream('Redis', async () => {
  const backend = createBackend()
  const feed = openChangeFeed(backend.env)
  const { REDIS_URL = '', REDIS_PREFIX: prefix = '' } = backend.env
  return {
    ...feed,
    open: () => openRedisStream({ urls: [REDIS_URL], ca: undefined, prefix }),
    unacknowledged: feed.backlog,
    async close() {
      await feed.close()
      await backend.remove()
    },
  }
})
