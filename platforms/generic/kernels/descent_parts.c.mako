<%!
def listed(values):
    return "{" + ", ".join(str(value) for value in values) + "}"
%>\
<%doc>What tilewright_product and tilewright_descent_term hold, for a TermContext.</%doc>\
<%def name="product(t)">\
{${t.product.images}, ${t.product.groups}, ${t.product.channels}, ${t.product.results},
         ${listed(t.product.size)}, ${listed(t.product.outs)}, ${listed(t.product.kernel)}, ${listed(t.product.strides)},
         ${listed(t.product.dilations)}, ${listed(t.product.begins)},
         ${listed(t.x_steps)}, ${listed(t.y_steps)}}\
</%def>\
<%def name="term(t)">\
{${t.weights}, ${t.gradient}, ${t.target}, ${t.following},
         ${f"(float *)scratch + {t.aside}" if t.aside is not None else "NULL"}, ${t.rows_at_once},
         ${", ".join(listed(steps) for steps in t.weight_steps)}, ${listed([0] * 5)}}\
</%def>\
