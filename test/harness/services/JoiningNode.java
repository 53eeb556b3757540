import org.codelibs.opensearch.runner.OpenSearchRunner;

/** The runner's own main bootstraps a separate cluster for a single node; this one joins the others. */
class JoiningNode {
  public static void main(String[] args) throws Exception {
    var runner = new OpenSearchRunner();
    runner.onBuild((number, settings) -> settings
        .put("discovery.type", "zen")
        .put("node.name", System.getProperty("node.name")));
    runner.build(args);
    Thread.currentThread().join();
  }
}
