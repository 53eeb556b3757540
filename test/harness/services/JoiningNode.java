import org.codelibs.opensearch.runner.OpenSearchRunner;

/** The runner's own main bootstraps a separate cluster for a single node; this one joins the others. */
class JoiningNode {
  public static void main(String[] args) throws Exception {
    var runner = new OpenSearchRunner();
    runner.onBuild((number, settings) -> settings
        .put("discovery.type", "zen")
        .put("node.name", System.getProperty("node.name")));
    runner.build(args);
    // As OpenSearch's own main does: SIGTERM closes the node, which then leaves the cluster.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(runner)));
    Thread.currentThread().join();
  }

  private static void close(OpenSearchRunner runner) {
    try {
      runner.close();
    } catch (java.io.IOException e) {
      e.printStackTrace();
    }
  }
}
