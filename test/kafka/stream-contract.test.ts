import { parseConfig } from '../../src/config/config.ts'
import { openChangeStream } from '../../src/services.ts'
import { sharedBroker } from '../support/streams/broker.ts'
import { describeChangeStream } from '../support/streams/change-stream-contract.ts'
import { openKafkaFeed } from '../support/streams/kafka-feed.ts'

describeChangeStream('Kafka', async () => {
  const feed = await openKafkaFeed(sharedBroker(), { partitions: 1 })
  return {
    ...feed,
    open: () => openChangeStream(parseConfig(feed.env), 'the test'),
    unacknowledged: feed.backlog,
  }
})
