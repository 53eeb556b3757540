import org.codelibs.opensearch.runner.OpenSearchRunner;

/**
 * The runner's own main ends without a word when a node does not start, and bootstraps a separate
 * cluster for a single node. This one prints the causes, and with `node.name` joins the others.
 */
class OpenSearchProcess {
  public static void main(String[] args) throws Exception {
    var runner = new OpenSearchRunner();
    var name = System.getProperty("node.name");
    if (name != null) {
      runner.onBuild((number, settings) -> settings.put("discovery.type", "zen").put("node.name", name));
    }
    try {
      runner.build(args);
    } catch (Throwable failure) {
      for (var cause = failure; cause != null; cause = cause.getCause()) System.err.println(cause);
      System.exit(1); // Threads of the failed node would keep the process.
    }
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
